export const line = '0.0.0\n';
