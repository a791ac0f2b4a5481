// `errand tree`: tasks with their subtasks.
import { columnsOf, printItems } from '../../terminal/io.ts'
import { readTree, readTrees, treeLines } from '../../terminal/task-tree.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const tree = defineVerb({
  usage: 'tree [ID] [--all]',
  help: 'Shows a task with all its subtasks. Without ID, shows every tree with an open task; with --all, every tree. --json prints one task per line.',
  options: { all: { type: 'boolean', short: 'a' } },
  positionals: { max: 1 },
  run: (io, { values, positionals: [ref] }) =>
    withLedger(io, values, async (engine) => {
      const trees =
        ref === undefined
          ? await readTrees(engine, values.all === true)
          : [await readTree(engine, await findTask(engine, ref))]
      const tasks = trees.flatMap(({ root, below }) => [root, ...below])
      const none = values.all ? 'No tasks.' : 'No open tasks; --all shows every tree.'
      printItems(io, values, tasks, tasks.length === 0 ? none : treeLines(trees, columnsOf(io.stdout)))
    }),
})
