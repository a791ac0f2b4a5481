// `errand add`: creates one task. Any engine that works on the ledger and has the executor runs it.

import { systemClock } from '../../../core/clock.ts'
import { timeOf } from '../../../entities/engine-time.ts'
import { misuse } from '../../terminal/arguments.ts'
import { printValue } from '../../terminal/io.ts'
import { changedLine } from '../../terminal/task-labels.ts'
import { fieldHelp, fieldOptions, fieldsIn } from '../field-flags.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'
import { workOf } from '../work-flags.ts'

export const add = defineVerb({
  usage: 'add [NAME] [--run CMD | --executor X [--input JSON]]',
  help: [
    'Creates a task and prints its id; at a terminal also its number and state. With --run it is a shell command that runs in this folder; without an executor it waits for a claim ("errand claim").',
    ...fieldHelp(),
  ].join('\n'),
  options: { ...fieldOptions(), run: { type: 'string' } },
  positionals: { max: 1 },
  async run(io, { values, positionals: [name] }) {
    const fieldsAt = (now: number) => {
      const given = fieldsIn(values, now)
      return { ...given, ...workOf(io, values['run'], given), name: name ?? given.name }
    }
    // They are checked before a ledger is opened or made.
    const fields = fieldsAt(systemClock.now())
    if (fields.name === undefined && fields.executor === undefined) {
      throw misuse(
        'A task needs a name, a command (--run) or an executor (--executor). Usage: errand add [NAME] [--run CMD | --executor X]',
      )
    }
    await withLedger(io, { ...values, create: true }, async (engine) => {
      const idOf = async (ref: string) => (await findTask(engine, ref)).id
      const parentId = fields.parentId && (await idOf(fields.parentId))
      const blockedBy = await Promise.all((fields.blockedBy ?? []).map(idOf))
      const [task] = await engine.create([{ ...fieldsAt(timeOf(engine)), parentId, blockedBy }])
      if (task !== undefined)
        printValue(io, values, task, io.stdout.isTTY ? `${changedLine(task)} (${task.id})` : task.id)
    })
  },
})
