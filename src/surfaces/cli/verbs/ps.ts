// `errand ps`: lists tasks. It prints tables, lines of JSON, or with --watch each change.
import { systemClock } from '../../../core/clock.ts'
import { statusLabels } from '../../../entities/status-filter.ts'
import { type BriefTask, openStatuses, taskStatuses } from '../../../entities/task.ts'
import { allBriefly, allTasks } from '../../../plans/each-task.ts'
import { type CommonArguments, lists, oneOf, switches, texts } from '../../terminal/arguments.ts'
import { columnsOf, note, printItems } from '../../terminal/io.ts'
import { shellCommand } from '../../terminal/shell-quote.ts'
import { openTasks, type TaskChoice } from '../../terminal/task-list.ts'
import { hiddenNote, taskTable } from '../../terminal/task-table.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { withLedger } from '../open-ledger.ts'
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
