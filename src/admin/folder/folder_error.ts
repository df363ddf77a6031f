type Options = {
  /** Whether somebody changed meanwhile what the folder was made from, or what was shown of it. */
  isStale?: boolean;
  cause?: unknown;
};

/** Why a folder is not applied, or not made, in a sentence for people. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
  readonly isStale: boolean;

  constructor(message: string, { isStale = false, cause }: Options = {}) {
    super(message, { cause });
    this.isStale = isStale;
  }
}
