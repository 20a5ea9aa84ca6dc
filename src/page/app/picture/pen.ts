type Color = string | undefined;

/** What the picture is drawn with. Positions are CSS pixels. */
export interface Pen {
  label(text: string, x: number, y: number, color: Color, weight?: number): void;
  widthOf(text: string): number;
  /** As much of a text as fits; the rest is an ellipsis. */
  fitted(text: string, px: number): string;
  /** A vertical line, or with `toX` any other. */
  line(x: number, y: number, toY: number, color: Color, toX?: number): void;
  dashed(x: number, y: number, toX: number, color: Color): void;
  fill(x: number, y: number, width: number, height: number, color: Color, alpha?: number): void;
  /** Many columns of one pixel, around the same line: `size` tells how high the half of each is. */
  columns(x: number, centre: number, count: number, size: (column: number) => number, color: Color): void;
  /** With round corners. */
  box(x: number, y: number, width: number, height: number, color: Color, alpha: number): void;
  diamond(x: number, y: number, size: number, color: Color): void;
}

export function pen(context: CanvasRenderingContext2D): Pen {
  const use = (color: Color) => {
    context.fillStyle = color ?? 'gray';
    context.strokeStyle = color ?? 'gray';
  };
  const line: Pen['line'] = (x, y, toY, color, toX = x) => {
    use(color);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, Math.round(y) + 0.5);
    context.lineTo(Math.round(toX) + 0.5, Math.round(toY) + 0.5);
    context.stroke();
  };
  const widthOf = (text: string) => {
    context.font = '600 12px system-ui, sans-serif';
    return context.measureText(text).width;
  };
  return {
    line,
    widthOf,
    fitted(text, px) {
      const width = widthOf(text);
      const count = Math.floor((text.length * px) / width) - 1;
      return width <= px ? text : count < 3 ? '' : `${text.slice(0, count)}…`;
    },
    label(text, x, y, color, weight = 400) {
      context.font = `${weight} 12px system-ui, sans-serif`;
      use(color);
      context.fillText(text, x, y);
    },
    dashed(x, y, toX, color) {
      context.setLineDash([3, 3]);
      line(x, y, y, color, toX);
      context.setLineDash([]);
    },
    fill(x, y, width, height, color, alpha = 1) {
      use(color);
      context.globalAlpha = alpha;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
    },
    columns(x, centre, count, size, color) {
      use(color);
      for (let column = 0; column < count; column += 1) {
        const half = size(column);
        if (half > 0.4) context.fillRect(x + column, centre - half, 1, 2 * half);
      }
    },
    box(x, y, width, height, color, alpha) {
      use(color);
      context.globalAlpha = alpha;
      context.beginPath();
      context.roundRect(x, y, Math.max(0, width), height, 6);
      context.fill();
      context.globalAlpha = 1;
    },
    diamond(x, y, size, color) {
      use(color);
      context.beginPath();
      context.moveTo(x, y - size);
      context.lineTo(x + size, y);
      context.lineTo(x, y + size);
      context.lineTo(x - size, y);
      context.fill();
    },
  };
}
