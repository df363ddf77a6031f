import type { Definition } from '../schema.ts';

/** Returns the steps that two versions have in common: of one name and one kind. */
export const commonSteps = (from: Definition, to: Definition): string[] =>
  Object.entries(from.steps).flatMap(([id, { kind }]) =>
    Object.hasOwn(to.steps, id) && to.steps[id]?.kind === kind ? [id] : [],
  );
