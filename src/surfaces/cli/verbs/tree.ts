// `errand tree`: tasks with what is in them, indented.
import { printItems } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { readTree, readTrees, treeLines } from '../task-tree.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'tree [ID] [--all]',
  help: 'Shows a task and everything below it; without an id every tree in which something is not settled, with --all every one. --json gives one task a line.',
  options: { all: { type: 'boolean', short: 'a' } },
  positionals: { max: 1 },
  run: (io, { values, positionals: [ref] }) =>
    withLedger(io, values, async (engine) => {
      const trees =
        ref === undefined
          ? await readTrees(engine, values.all === true)
          : [await readTree(engine, await findTask(engine, ref))]
      const tasks = trees.flatMap(({ root, below }) => [root, ...below])
      printItems(io, values, tasks, treeLines(trees, io.stdout.columns))
    }),
})
