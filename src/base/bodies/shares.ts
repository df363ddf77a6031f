import type { Refusal } from '../refusal.ts';

/** A part of the memory, and the requests that use it. */
export type Share = {
  /** Of a project or an address: where it is known by. */
  name: string | null;
  bytesMax: number;
  refuse: () => Refusal;
  heldBytes: number;
  requests: number;
};

export const newShare = (name: string | null, bytesMax: number, refuse: () => Refusal): Share => ({
  name,
  bytesMax,
  refuse,
  heldBytes: 0,
  requests: 0,
});
