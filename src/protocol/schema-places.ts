import * as z from 'zod';

/** What a schema says about a place in a value. */
export interface SchemaPlaces {
  /** The names of the settings that are allowed there. */
  keysAt(path: readonly PropertyKey[]): string[];
  /** Whether a duration is allowed there. */
  isDuration(path: readonly PropertyKey[]): boolean;
  /** Whether a rate is allowed there. */
  isRate(path: readonly PropertyKey[]): boolean;
  /** Whether text is allowed there, and no number. */
  isText(path: readonly PropertyKey[]): boolean;
}

/** Marks a duration in a JSON Schema. */
export const durationMark = 'x-duration';
/** Marks a number of bits per second. */
export const rateMark = 'x-rate';
/** The default in words, for a setting whose default is not a value. */
export const defaultMark = 'x-default';

type Node = { [keyword: string]: unknown };

/** Reads a schema through its JSON Schema; alternatives are combined. */
export function createSchemaPlaces(schema: z.ZodType): SchemaPlaces {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node;
  const nodesAt = (path: readonly PropertyKey[]) =>
    path.reduce<Node[]>((nodes, key) => nodes.flatMap((node) => inner(node, key)), alternatives(root, root));
  const inner = (node: Node, key: PropertyKey) => {
    const properties = node.properties as Record<string, Node> | undefined;
    const found =
      typeof key === 'number' ? node.items : (properties?.[String(key)] ?? node.additionalProperties);
    return isNode(found) ? alternatives(found, root) : [];
  };
  return {
    keysAt: (path) => [...new Set(nodesAt(path).flatMap(({ properties }) => Object.keys(properties ?? {})))],
    isDuration: (path) => nodesAt(path).some((node) => node[durationMark] === true),
    isRate: (path) => nodesAt(path).some((node) => node[rateMark] === true),
    isText(path) {
      const types = nodesAt(path).flatMap(({ type }) => type ?? []);
      return types.includes('string') && !types.includes('number') && !types.includes('integer');
    },
  };
}

/** A node, and every node that it refers to or offers as an alternative. */
function alternatives(node: Node, root: Node): Node[] {
  const { $ref, anyOf, oneOf, allOf } = node as Record<string, Node[]> & { $ref?: string };
  const [, ...steps] = $ref?.split('/') ?? [];
  const referred = $ref === undefined ? [] : [steps.reduce((at, key) => at[key] as Node, root)];
  const offered = [...referred, ...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])];
  return [node, ...offered.flatMap((one) => alternatives(one, root))];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}
