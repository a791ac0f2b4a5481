// `errand purge`: deletes families of tasks that were settled long ago.

import { counted } from '../../../core/counted.ts'
import { timeOf } from '../../../entities/engine-time.ts'
import { misuse, texts } from '../../terminal/arguments.ts'
import { printValue } from '../../terminal/io.ts'
import { durationOption } from '../../terminal/option-values.ts'
import { withLedger } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const purge = defineVerb({
  usage: 'purge --older-than DURATION',
  help: 'Deletes tasks that ended longer ago than DURATION (90s, 2h, 30d), with all their data. A task is deleted only together with its parent and its subtasks, and not while an open task depends on one of them.',
  options: texts('older-than'),
  positionals: { max: 0 },
  async run(io, { values }) {
    const text = values['older-than']
    if (text === undefined)
      throw misuse('The minimum age is missing: "errand purge --older-than 30d" keeps the last 30 days.')
    const ageMs = durationOption('older-than', text)
    return await withLedger(io, values, async (engine) => {
      const before = Math.max(0, timeOf(engine) - ageMs)
      const purged = await engine.purge({ before })
      const { total: left } = await engine.list({ limit: 0 })
      const none = purged.finishedEarlier
        ? 'Finished an earlier purge, and no other task was old enough'
        : 'No task was old enough'
      const outcome =
        purged.tasks === 0
          ? none
          : `Deleted ${counted(purged.tasks, 'task')} in ${counted(purged.families, 'family', 'families')}, with ${counted(purged.events, 'event')}`
      const remaining = `${counted(left, 'task')} ${left === 1 ? 'remains' : 'remain'}`
      printValue(io, values, { ...purged, left }, `${outcome}; ${remaining}.`)
    })
  },
})
