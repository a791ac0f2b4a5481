// Verbs that read tasks: `errand ps`, `show`, `tree` and `why`.
import { systemClock } from '../../../core/clock.ts'
import { statusLabels } from '../../../entities/status-filter.ts'
import { openStatuses, taskStatuses } from '../../../entities/task.ts'
import { allTasks } from '../../../plans/each-task.ts'
import { type CommonArguments, lists, oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { note, printItems, printValue } from '../../../terminal/io.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { formatTaskDetails, readTaskDetails, usageOf } from '../../../terminal/task-details.ts'
import { whyLines } from '../../../terminal/task-labels.ts'
import { openTasks, type TaskChoice } from '../../../terminal/task-list.ts'
import { hiddenNote, taskTable } from '../../../terminal/task-table.ts'
import { readTree, readTrees, treeLines } from '../../../terminal/task-tree.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { withLedger, withTask } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const ps = defineVerb({
  usage: 'ps [--all] [--status S]… [--ready] [--owner NAME] [--tag T]… [--watch]',
  help: [
    'Lists the open tasks, and the failed groups that contain one. --json prints one task per line.',
    '  --all         every task',
    `  --status S    only tasks in this state: ${taskStatuses.join(', ')} (or, in other vocabularies, ${statusLabels.filter((word) => !taskStatuses.some((status) => status === word)).join(', ')}); may be given several times`,
    '  --ready       only tasks that could start now: when a slot is free (queued), or when they are claimed (claimable)',
    '  --owner NAME  only tasks that NAME has claimed',
    '  --tag T       only tasks with this tag; if given several times, with all of them',
    '  --watch       keep showing changes until Ctrl-C: redraws the table on a terminal, else prints one line per change',
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
      const isWhole = isNarrowed || values.all === true
      const tasks = await (isWhole ? allTasks(engine, choice) : openTasks(engine))
      const none = isNarrowed ? 'No task matches.' : values.all ? 'No tasks.' : 'No open tasks.'
      const table = tasks.length === 0 ? none : taskTable(tasks, systemClock.now(), io.stdout.columns)
      printItems(io, values, tasks, table)
      const hidden = isWhole || values.json ? undefined : await hiddenNote(engine, tasks.length, psAllOf(values))
      if (hidden !== undefined) note(io, hidden)
    })
  },
})

function psAllOf(flags: CommonArguments['values']): string {
  return shellCommand('errand', 'ps', '--all', ...ledgerFlagOf(flags))
}

export const show = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, runs and calls, its conversation with token usage, the progress of its team, and why it does not run.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, found) => {
      const details = await readTaskDetails(engine, found)
      const { task, numberOf: _numberOf, ...rest } = details
      const json = { ...task, ...rest, usage: usageOf(rest.messages) }
      printValue(io, args.values, json, formatTaskDetails(details, io.stdout.columns))
    }),
})

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
      printItems(io, values, tasks, treeLines(trees, io.stdout.columns))
    }),
})

export const why = defineVerb({
  usage: 'why ID',
  help: 'Explains why a task does not run: it waits for a slot, a limit, a sibling, another task, a time, an answer or a claim, or it has ended. For a running task, says who works on it, since when, and how its children affect it.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const why = await engine.why(task.id)
      printValue(io, args.values, why, await whyLines(engine, why))
    }),
})
