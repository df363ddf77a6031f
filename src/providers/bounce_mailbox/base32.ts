/** RFC 4648 §6, in lower case and without padding. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS = 5;

/** Returns bytes in base32. */
export const toBase32 = (bytes: Buffer): string => {
  let text = '';
  let held = 0;
  let heldBits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (heldBits += 8; heldBits >= BITS; heldBits -= BITS)
      text += ALPHABET[(held >> (heldBits - BITS)) & 31];
    held &= (1 << heldBits) - 1;
  }
  return heldBits === 0 ? text : text + ALPHABET[(held << (BITS - heldBits)) & 31];
};

/** Returns the bytes of a text in base32; null for another spelling of them, as with unused bits set. */
export const fromBase32 = (text: string): Buffer | null => {
  const bytes: number[] = [];
  let held = 0;
  let heldBits = 0;
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return null;
    held = (held << BITS) | value;
    heldBits += BITS;
    if (heldBits < 8) continue;
    heldBits -= 8;
    bytes.push(held >> heldBits);
    held &= (1 << heldBits) - 1;
  }
  const read = Buffer.from(bytes);
  return toBase32(read) === text ? read : null;
};
