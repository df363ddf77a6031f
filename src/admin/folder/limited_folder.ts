import { FolderError } from './folder_error.ts';

/** How much a folder may be. */
export type FolderSize = { filesMax: number; charsMax: number };

/** For whoever writes it on a disk of their own, and not into an answer. */
export const ANY_SIZE: FolderSize = {
  filesMax: Number.POSITIVE_INFINITY,
  charsMax: Number.POSITIVE_INFINITY,
};

/** A folder that is refused as soon as it is more than it may be: nothing past that is read. */
export class LimitedFolder extends Map<string, string> {
  readonly #most: FolderSize;
  #chars = 0;

  constructor(most: FolderSize) {
    super();
    this.#most = most;
  }

  /** Says that so many files are to come at least. */
  expectFiles(count: number): void {
    if (count > this.#most.filesMax) this.#refuse();
  }

  override set(file: string, content: string): this {
    this.#chars += content.length - (this.get(file)?.length ?? 0);
    if (this.#chars > this.#most.charsMax) this.#refuse();
    this.expectFiles(this.has(file) ? this.size : this.size + 1);
    return super.set(file, content);
  }

  #refuse(): never {
    const { filesMax, charsMax } = this.#most;
    throw new FolderError(
      `The folder is of more than ${filesMax} files or ${charsMax} characters, which one answer does not hold. ` +
        'Export one automation with what it needs, or have whoever runs the installation export it all.',
    );
  }
}
