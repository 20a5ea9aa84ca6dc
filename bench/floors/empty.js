// The floor of a start: Node, and an empty ES module.
export {};
