import { v7 } from 'uuid';

/** A new id: UUID version 7 (RFC 9562), so that ids sort by the time they were made. */
export const newId = (): string => v7();

/** The least id that can have been made at a moment: finds rows by time through the index on their ids. */
export const firstIdAt = (at: Date): string => {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};
