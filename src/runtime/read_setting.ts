import { readSettingFiles } from '../config/setting_files.ts';

/** Returns a setting of this process, from the environment or from its file. */
export const readSetting = (name: string): string | undefined =>
  readSettingFiles(process.env)[name];
