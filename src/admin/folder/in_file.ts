import { z } from 'zod';
import { Refusal, refusals } from '../../base/refusal.ts';

/** Does what a file asks for; what is refused is said for people, by the file's name. */
export const inFile = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new Error(`${file}: ${z.prettifyError(error)}`, { cause: error });
    if (!(error instanceof Refusal)) throw error;
    const { issues = [], detail = refusals[error.reason].detail } = error.extras;
    const told = issues.map(({ path, message }) => `${path} ${message}`.trim());
    throw new Error(`${file}: ${told.length > 0 ? told.join('\n  ') : detail}`, { cause: error });
  }
};
