export function stripElf(file: Buffer): Buffer;
