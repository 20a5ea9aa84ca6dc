export function writeReadme() {}
