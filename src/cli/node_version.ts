// Before anything else: the rest of the program is not understood by older ones. So nothing here is newer than Node 12.
const NODE_MAJOR_MIN = 20;

const { node } = process.versions;
if (Number(node.split('.')[0]) < NODE_MAJOR_MIN) {
  process.stderr.write(`trunkline needs Node ${NODE_MAJOR_MIN} or newer, and this is ${node}.\n`);
  process.exit(1);
}
