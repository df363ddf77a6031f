/** The environment of the test run, for programs that it starts and for switches of its targets. */
export const environment: Readonly<NodeJS.ProcessEnv> = process.env;
