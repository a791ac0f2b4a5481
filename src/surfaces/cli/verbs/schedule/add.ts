// `errand schedule add`: adds a schedule, or updates it.
import { systemClock } from '../../../../core/clock.ts'
import type { Engine } from '../../../../engine/engine-api.ts'
import { catchUps, fieldsOfOneTask, overlaps } from '../../../../entities/schedule.ts'
import { misuse, oneOf, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { printValue } from '../../../terminal/io.ts'
import { durationOption } from '../../../terminal/option-values.ts'
import { fieldHelp, fieldOptions, fieldsIn } from '../../field-flags.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'
import { workOf } from '../../work-flags.ts'
import { scheduleLine } from './schedules.ts'

type Template = Parameters<Engine['schedules']['put']>[0]['task']

export const add = defineVerb({
  usage: 'schedule add NAME --cron EXPRESSION|--every D [--run CMD | --executor X [--input JSON]]',
  help: [
    'Adds a schedule that creates a task at certain times, or updates the one with this name: it keeps its place unless its times change. A process that works on the ledger ("errand serve") makes the tasks and runs them.',
    '  --cron EXPRESSION  minute, hour, day of the month, month, day of the week: "0 9 * * 1-5" is 9:00 from Monday to Friday',
    '  --timezone ZONE    of the expression: "Europe/Berlin"; default UTC',
    '  --every D          the time between two tasks: 90s, 5m, 2h',
    `  --overlap WORD     what happens while the task before is open: ${overlaps.join(', ')}; default skip. With queue, one waits at most`,
    `  --catch-up WORD    what is made up for when times have passed while nothing worked: ${catchUps.join(', ')}; default one`,
    '  --jitter D         each task is made up to this much later',
    'The fields of the tasks:',
    ...fieldHelp(fieldsOfOneTask),
  ].join('\n'),
  options: {
    ...fieldOptions(fieldsOfOneTask),
    ...texts('cron', 'timezone', 'every', 'overlap', 'catch-up', 'jitter', 'run'),
  },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [name = ''] }) {
    const { cron, timezone, every, overlap, jitter, run } = values
    const catchUp = values['catch-up']
    if ((cron === undefined) === (every === undefined))
      throw misuse('A schedule has either --cron or --every: errand schedule add NAME --cron "0 9 * * 1-5" --run CMD.')
    const given = fieldsIn(values, systemClock.now())
    const request = {
      name,
      cron,
      timezone,
      every: every === undefined ? undefined : durationOption('every', every),
      overlap: overlap === undefined ? undefined : oneOf('overlap', overlap, overlaps),
      catchUp: catchUp === undefined ? undefined : oneOf('catch-up', catchUp, catchUps),
      jitterMs: jitter === undefined ? undefined : durationOption('jitter', jitter),
      task: { ...given, ...workOf(io, run, given), name: given.name ?? name } as Template,
    }
    await withLedger(io, { ...values, create: true }, async (engine) => {
      const put = await engine.bus.call('schedules:put', request, cliCaller)
      printValue(io, values, put.schedule, scheduleLine(put.schedule))
    })
  },
})
