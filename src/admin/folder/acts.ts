import * as automations from '../../automations/automations.ts';
import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { hint } from '../../base/hints.ts';
import { Refusal } from '../../base/refusal.ts';
import * as rendering from '../../rendering/rendering.ts';
import * as segments from '../../segments/segments.ts';
import { refuseGone } from '../folder_turns.ts';
import { listInnerTemplates } from './automations.ts';
import type { Folder } from './files.ts';
import { FolderError } from './folder_error.ts';
import { applyFolder } from './folder.ts';
import type { Seen, Told } from './folder.ts';
import { inFile } from './in_file.ts';
import { listChangedTemplates } from './templates.ts';

// What people who are signed in do with folders. Their templates are theirs: each is looked at in a thread of its own,
// before there is a transaction that others wait for.

export type Where = {
  deps: Deps;
  projectId: string;
  /** Says that nobody waits for it any more. */
  signal?: AbortSignal | undefined;
};
export type Wanted = { folder: Folder; sender: string | undefined; activates: boolean };

/** Does what a folder asks for; what is wrong with it is the caller's to mend. */
export const refusing = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof FolderError)) throw cause;
    const reason = cause.isStale ? 'folder_changed' : 'invalid_request';
    throw new Refusal(reason, { detail: cause.message, cause });
  }
};

const keyOf = (text: rendering.TemplateText): string => JSON.stringify(text);

/** Looks at every template that may have to be kept, and answers how each was found. */
const examineAll = async (
  { deps, projectId, signal }: Where,
  folder: Folder,
): Promise<rendering.Examine> => {
  const changed = await inProject(deps, projectId, (scope) => listChangedTemplates(scope, folder));
  const known = new Map<string, rendering.Accepted>();
  for (const [file, text] of [...changed, ...(await listInnerTemplates(folder))]) {
    refuseGone(signal);
    known.set(
      keyOf(text),
      await inFile(file, () => rendering.examineTemplate(deps, projectId, text)),
    );
  }
  refuseGone(signal);
  return async (text) => {
    const accepted = known.get(keyOf(text));
    if (accepted) return accepted;
    const message = `Somebody changed the template "${text.name}" just now. Look again.`;
    throw new FolderError(message, { isStale: true });
  };
};

const applyExamined = async (
  where: Where,
  { folder, ...options }: Wanted & { seen?: Seen | undefined },
  work: (apply: (scope: Scope) => Promise<Told>) => Promise<Told>,
): Promise<Told> => {
  const examine = await examineAll(where, folder);
  const { config: site } = where.deps;
  return work((scope) => applyFolder(scope, folder, { ...options, examine, site }));
};

/** Takes back what was only to be looked at. */
class OnlyLooked extends Error {
  readonly told: Told;
  constructor(told: Told) {
    super('only looked');
    this.told = told;
  }
}

/** What a folder would change. Keeps nothing. */
export const compareFolder = ({ deps, projectId, signal }: Where, wanted: Wanted): Promise<Told> =>
  refusing(() =>
    applyExamined({ deps, projectId, signal }, wanted, async (apply) => {
      try {
        return await inProject(deps, projectId, async (scope) => {
          throw new OnlyLooked(await apply(scope));
        });
      } catch (error) {
        if (error instanceof OnlyLooked) return error.told;
        throw error;
      }
    }),
  );

/** Makes a project what a folder says, unless something is not any more as it was seen. */
export const applySeen = async (
  { deps, projectId, signal }: Where,
  wanted: Wanted & { seen?: Seen | undefined },
): Promise<Told> => {
  const told = await refusing(() =>
    applyExamined({ deps, projectId, signal }, wanted, (apply) =>
      inProject(deps, projectId, apply),
    ),
  );
  const isOf = (kind: string) =>
    told.some(({ file, changes }) => file.startsWith(kind) && changes.length > 0);
  if (isOf('segments/')) await hint(deps, segments.refreshHint(projectId));
  if (isOf('automations/')) await hint(deps, automations.advanceHint(projectId));
  return told;
};
