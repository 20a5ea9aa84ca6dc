export interface DocExample {
  language: string;
  code: string;
  /** What its comments say that it prints: the rest of each line after `// →`. */
  prints: string[];
  /** The heading that it stands under. */
  heading: string;
}

/** The fenced examples of a Markdown text. */
export function readExamples(markdown: string): DocExample[] {
  const examples: DocExample[] = [];
  let heading = '';
  for (const [, title, language = '', code = ''] of markdown.matchAll(
    /^#+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm,
  )) {
    if (title !== undefined) heading = title;
    else examples.push({ language, code, prints: printedBy(code), heading });
  }
  return examples;
}

function printedBy(code: string): string[] {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text = '']) => text);
}
