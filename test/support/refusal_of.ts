import { Refusal } from '../../src/base/refusal.ts';

/** What some work was refused with; fails when it was not, or broke otherwise. */
export const refusalOf = async (work: Promise<unknown>): Promise<Refusal> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
};

/** The name of the refusal that some synchronous work throws; null when it throws none. */
export const reasonOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
};
