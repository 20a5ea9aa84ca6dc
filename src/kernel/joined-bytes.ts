const nothing = Buffer.alloc(0);

/** Bytes that arrive in pieces. Their memory doubles, so that to join them takes time in proportion to their length. */
export class JoinedBytes {
  #memory: Buffer = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    piece.copy(this.#memory, this.#length);
    this.#length = length;
  }

  /** A copy of all of them. */
  copy(): Buffer {
    return Buffer.from(this.#memory.subarray(0, this.#length));
  }

  /** All of them; from now on there are none. */
  take(): Buffer {
    const all = this.#memory.subarray(0, this.#length);
    this.#memory = nothing;
    this.#length = 0;
    return all;
  }
}
