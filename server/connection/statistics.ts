/** Messages and bytes counted both ways: of one connection while it lives, and of a server for those that have gone. */
export class Traffic {
  inMessages = 0;
  inBytes = 0;
  outMessages = 0;
  outBytes = 0;

  copy(): Traffic {
    const copy = new Traffic();
    copy.add(this);
    return copy;
  }

  add(other: Traffic): void {
    this.inMessages += other.inMessages;
    this.inBytes += other.inBytes;
    this.outMessages += other.outMessages;
    this.outBytes += other.outBytes;
  }
}

/** Of those that have had none. */
export const NO_TRAFFIC: Traffic = Object.freeze(new Traffic());
