import type { Told } from '../admin/folder/folder.ts';

/** Says what is different in each file of a folder, line by line. */
export const sayChanges = (told: Told): void => {
  for (const { file, changes } of told)
    console.log(
      [changes.length === 0 ? `${file}: nothing to change` : `${file}:`, ...changes].join('\n  '),
    );
};
