// `errand ps`: lists tasks. It prints tables, lines of JSON, or with --watch each change.
import { systemClock } from '../../../core/clock.ts'
import { omitUndefined } from '../../../core/omit-undefined.ts'
import { type BriefTask, openStatuses } from '../../../entities/task.ts'
import { allBriefly, allTasks } from '../../../plans/each-task.ts'
import { type CommonArguments, switches } from '../../terminal/arguments.ts'
import { filterFlags, filterHelp, filterIn, filterUsage } from '../../terminal/filter-flags.ts'
import { columnsOf, note, printItems } from '../../terminal/io.ts'
import { shellCommand } from '../../terminal/shell-quote.ts'
import { openTasks, type TaskChoice } from '../../terminal/task-list.ts'
import { hiddenNote, taskTable } from '../../terminal/task-table.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { withLedger } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const ps = defineVerb({
  usage: `ps [--all] ${filterUsage} [--ready] [--system] [--watch]`,
  help: [
    'Lists the open tasks, and the failed groups that contain one. --json prints one task per line.',
    '  --all             every task',
    ...filterHelp,
    '  --ready           only tasks that could start now: when a slot is free (queued), or when they are claimed (claimable)',
    '  --system          also handlers and deliveries of webhooks',
    '  --watch           keep showing changes until Ctrl-C: redraws the table on a terminal, else prints one line per change',
  ].join('\n'),
  options: {
    ...filterFlags,
    ...switches('ready', 'system'),
    all: { type: 'boolean', short: 'a' },
    watch: { type: 'boolean', short: 'w' },
  },
  positionals: { max: 0 },
  async run(io, { values }) {
    const filter = {
      ...filterIn(values, systemClock.now()),
      ...omitUndefined({ ready: values.ready, system: values.system ? ('include' as const) : undefined }),
    }
    const isNarrowed = Object.keys(filter).length > 0
    // Tasks that failed with a code, and those of a certain time, may have ended.
    const takesEnded =
      values.all === true || [filter.code, filter.since, filter.before].some((each) => each !== undefined)
    const choice: TaskChoice = { ...(takesEnded ? {} : { status: [...openStatuses] }), ...filter }
    return await withLedger(io, values, async (engine) => {
      if (values.watch) {
        const { watchTasks } = await import('../watch-tasks.ts')
        return await watchTasks(io, engine, { choice, json: values.json === true })
      }
      const isWhole = isNarrowed || values.all === true
      const list = values.json ? allTasks : allBriefly
      const tasks = await (isWhole ? list(engine, choice) : openTasks<BriefTask>(engine, list))
      const none = isNarrowed ? 'No task matches.' : values.all ? 'No tasks.' : 'No open tasks.'
      const table = tasks.length === 0 ? none : taskTable(tasks, systemClock.now(), columnsOf(io.stdout))
      printItems(io, values, tasks, table)
      const hidden = isWhole || values.json ? undefined : await hiddenNote(engine, tasks.length, psAllOf(values))
      if (hidden !== undefined) note(io, hidden)
    })
  },
})

function psAllOf(flags: CommonArguments['values']): string {
  return shellCommand('errand', 'ps', '--all', ...ledgerFlagOf(flags))
}
