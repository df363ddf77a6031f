import { asOperator } from '../base/audit.ts';
import { inProject, openDb } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { runtimeUrl } from '../base/roles.ts';
import { findDatabase } from './find_database.ts';
import { readKeys } from './home.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Takes back what was only to be looked at, and says so. */
export class OnlyLooked extends Error {}

/** The project that a command was given. */
export const readProjectId = (given: string): string => {
  if (!UUID.test(given)) throw new Error('Say which project: project=<uuid>');
  return given;
};

/**
 * Does the work of a command in one transaction of its project, on the database of this installation; audited. Answers
 * what came of it, once it is committed; null where it was only looked.
 */
export const inOneProject = async <T>(
  projectId: string,
  command: string,
  work: (scope: Scope) => Promise<T>,
): Promise<T | null> => {
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(await findDatabase(), keys), 1);
  try {
    return await inProject(asOperator({ db, keys }, command), projectId, work);
  } catch (error) {
    if (!(error instanceof OnlyLooked)) throw error;
    console.log(error.message);
    return null;
  } finally {
    await db.end();
  }
};
