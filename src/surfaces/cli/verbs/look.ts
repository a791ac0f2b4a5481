// A look at tasks: `errand ps` lists them, `show` tells all of one, `tree` what is in them, `why` what one waits for.
import { systemClock } from '../../../core/clock.ts'
import { statusLabels } from '../../../entities/status-filter.ts'
import { openStatuses, taskStatuses } from '../../../entities/task.ts'
import { allTasks } from '../../../plans/each-task.ts'
import { lists, oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { printItems, printValue } from '../../../terminal/io.ts'
import { formatTaskDetails, readTaskDetails, usageOf } from '../../../terminal/task-details.ts'
import { whyLines } from '../../../terminal/task-labels.ts'
import { openTasks, type TaskChoice } from '../../../terminal/task-list.ts'
import { taskTable } from '../../../terminal/task-table.ts'
import { readTree, readTrees, treeLines } from '../../../terminal/task-tree.ts'
import { withLedger, withTask } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const ps = defineVerb({
  usage: 'ps [--all] [--status S]… [--ready] [--owner NAME] [--tag T]… [--watch]',
  help: [
    `Lists the tasks that are not settled, and the failed groups that they are in; --all lists every one, --status those in one state (${taskStatuses.join(', ')}; ${statusLabels.filter((word) => !taskStatuses.some((status) => status === word)).join(', ')} are understood too). --json gives one task a line.`,
    '  --ready       only what waits for nothing but a slot (queued) or somebody who claims it (claimable)',
    '  --owner NAME  only what this owner has claimed',
    '  --tag T       only tasks with this tag; with several, with all of them',
    '  --watch       goes on until Ctrl-C: on a terminal the table is redrawn, elsewhere each change is a line',
  ].join('\n'),
  options: {
    ...texts('owner'),
    ...lists('status', 'tag'),
    ...switches('ready'),
    all: { type: 'boolean', short: 'a' },
    watch: { type: 'boolean', short: 'w' },
  },
  positionals: { max: 0 },
  async run(io, { values }) {
    const { status, ready, owner, tag: tags } = values
    const isNarrowed = [status, ready, owner, tags].some((given) => given !== undefined)
    const choice: TaskChoice = {
      status:
        status?.map((each) => oneOf('status', each, statusLabels)) ?? (values.all ? undefined : [...openStatuses]),
      ready,
      owner,
      tags,
    }
    return await withLedger(io, values, async (engine) => {
      if (values.watch) {
        const { watchTasks } = await import('../watch-tasks.ts')
        return await watchTasks(io, engine, { choice, json: values.json === true })
      }
      const tasks = await (isNarrowed || values.all ? allTasks(engine, choice) : openTasks(engine))
      printItems(io, values, tasks, taskTable(tasks, systemClock.now(), io.stdout.columns))
    })
  },
})

export const show = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, its runs and calls, its conversation and the tokens it took, how far its team is, and why it does not run.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, found) => {
      const picture = await readTaskDetails(engine, found)
      const { task, ...rest } = picture
      const json = { ...task, ...rest, usage: usageOf(rest.messages) }
      printValue(io, args.values, json, formatTaskDetails(picture, io.stdout.columns))
    }),
})

export const tree = defineVerb({
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

export const why = defineVerb({
  usage: 'why ID',
  help: 'Says why a task does not run: it waits for a slot, for a place among its siblings or under a limit, for other tasks, a time, an answer or a person, or has ended. Of one that runs: who works on it since when, and what its children mean for it.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const why = await engine.why(task.id)
      printValue(io, args.values, why, await whyLines(engine, why))
    }),
})
