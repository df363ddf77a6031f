import { z } from 'zod';
import { Refusal, refusals } from '../../base/refusal.ts';
import { FolderError } from './folder_error.ts';

/** Does what a file asks for; what is refused is said for people, by the file's name. */
export const inFile = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof z.ZodError)
      throw new FolderError(`${file}: ${z.prettifyError(cause)}`, { cause });
    // Of a service that is overloaded or down the file is no reason.
    if (!(cause instanceof Refusal) || refusals[cause.reason].status >= 500) throw cause;
    const { issues = [], detail = refusals[cause.reason].detail } = cause.extras;
    const told = issues.map(({ path, message }) => `${path} ${message}`.trim());
    const said = told.length > 0 ? told.join('\n  ') : detail;
    throw new FolderError(`${file}: ${said}`, { cause });
  }
};
