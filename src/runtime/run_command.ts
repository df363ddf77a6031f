/** Runs what a command does; what goes wrong is one sentence for people and exit code 1, no stack. */
export const runCommand = async (command: () => Promise<void>): Promise<void> => {
  try {
    await command();
  } catch (error) {
    console.error(error instanceof Error && error.message !== '' ? error.message : error);
    process.exit(1);
  }
};
