import type { Definition } from '../schema.ts';

/** Returns the steps that two versions have in common: of one name and one kind. */
export const commonSteps = (from: Definition | null, to: Definition | null): string[] =>
  Object.entries(from?.steps ?? {}).flatMap(([id, { kind }]) =>
    to && Object.hasOwn(to.steps, id) && to.steps[id]?.kind === kind ? [id] : [],
  );
