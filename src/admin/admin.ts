// The front door: what other code may ask of the admin API.
export { CONSOLE_FOLDER, consoleDoor } from './console.ts';
export { adminDoor } from './door.ts';
export { readFolder } from './folder/disk.ts';
export { applyFolder } from './folder/folder.ts';
export { listReadyKeys, READY_FOLDER } from './library.ts';
export { keepAdministrator } from './people.ts';
export { previewDoor } from './preview.ts';
export { folderLimits } from './folder_limits.ts';
export { signInLimits } from './sign_in_limits.ts';
export { endStreams, streamLimits } from './streams.ts';
