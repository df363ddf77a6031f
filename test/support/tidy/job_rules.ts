import { filesOf, matches } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

const TASK_FILE = /^tasks\/\w+\/\w+\.ts$/;

/** Of a job that nobody hands anything, or whatever the clock's queue says of itself, which it does not read. */
const READS_NOTHING = /\btask\(z\.unknown\(\), async \(_payload\b/;
/** A job's own schema: in the call, or right above it. */
const OWN_SCHEMA =
  /\b(?:task\(|sharedTask\(\s*|backgroundTask\(\s*|const Payload = )z\.strictObject\(\{([^}]*)\}\)/g;
const IS_ID = /^\w+_id: z\.uuid\(\)$/;

const judgeTask = ({ path, text }: { path: string; text: string }): string[] => {
  if (READS_NOTHING.test(text)) return [];
  const schemas = matches(text, OWN_SCHEMA);
  if (schemas.length !== 1) return [`${path} has no schema of its own for what it is given`];
  const members = (schemas[0] ?? '').split(',').map((member) => member.trim());
  return members
    .filter((member) => member !== '' && !IS_ID.test(member))
    .map((member) => `${path} is given what is no id: ${member}`);
};

export const jobRules: Rule[] = [
  {
    name: 'a job is given ids only: the queue keeps what nobody erases',
    find: (tree: Tree) => filesOf(tree, TASK_FILE).flatMap(judgeTask),
    examples: [
      {
        files: {
          'tasks/a/b.ts':
            'export default task(z.strictObject({ a_id: z.uuid(), email: z.email() }), work);',
        },
        says: 'is given what is no id: email: z.email()',
      },
      {
        files: {
          'tasks/a/b.ts':
            'const Payload = z.strictObject({\n  a_id: z.uuid(),\n  b_id: z.string(),\n});\n' +
            'export default task(Payload, work);',
        },
        says: 'is given what is no id: b_id: z.string()',
      },
      {
        files: { 'tasks/a/b.ts': 'export default task(z.unknown(), async (payload) => {});' },
        says: 'has no schema of its own',
      },
      {
        files: {
          'tasks/a/b.ts':
            `import { Payload } from '../../src/a/a.ts';\n` + 'export default task(Payload, work);',
        },
        says: 'has no schema of its own',
      },
    ],
  },
];
