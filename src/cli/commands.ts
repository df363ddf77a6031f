import { alertCommands } from './alert_commands.ts';
import type { Options } from './arguments.ts';
import { EVERYWHERE, OF_PROJECT } from './command.ts';
import type { Command } from './command.ts';
import { endpointCommands } from './endpoint_commands.ts';
import { explainCommand } from './explain_command.ts';
import { folderCommands } from './folder_commands.ts';
import { keyCommands } from './key_commands.ts';
import { projectCommands } from './project_commands.ts';
import { requeueCommand } from './requeue_command.ts';
import { resumeCommand } from './resume_command.ts';
import { sessionCommands } from './session_commands.ts';
import { simulateCommand } from './simulate_command.ts';
import { suppressCommand } from './suppress_command.ts';

/** Every command, in the order in which they are listed. */
export const COMMANDS: readonly Command[] = [
  ...sessionCommands,
  ...projectCommands,
  ...keyCommands,
  ...folderCommands,
  simulateCommand,
  explainCommand,
  suppressCommand,
  requeueCommand,
  ...alertCommands,
  ...endpointCommands,
  resumeCommand,
];

/** The options of all of them. An option of one name takes the same wherever it is. */
export const ALL_OPTIONS: Options = Object.assign(
  {},
  ...COMMANDS.map(({ options = {} }) => options),
  OF_PROJECT,
  EVERYWHERE,
) as Options;
