/** What a run costs the service. */
export interface Cost {
  /** Token requests. */
  tokens: number;
  /** Requests without a key. */
  plain: number;
  /** WebSocket connections. */
  connections: number;
}

export const oneToken: Cost = { tokens: 1, plain: 0, connections: 0 };
export const onePlain: Cost = { tokens: 0, plain: 1, connections: 0 };
export const oneConnection: Cost = { tokens: 0, plain: 0, connections: 1 };
export const noCost: Cost = { tokens: 0, plain: 0, connections: 0 };

export function addCosts(costs: readonly Cost[]): Cost {
  return {
    tokens: costs.reduce((sum, { tokens }) => sum + tokens, 0),
    plain: costs.reduce((sum, { plain }) => sum + plain, 0),
    connections: costs.reduce((sum, { connections }) => sum + connections, 0),
  };
}

/** All requests of a cost, upgrades included. */
export function totalOf({ tokens, plain, connections }: Cost): number {
  return tokens + plain + connections;
}
