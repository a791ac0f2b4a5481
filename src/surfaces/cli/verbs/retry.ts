// `errand retry`: gives failed tasks a new attempt.
import { switches } from '../../terminal/arguments.ts'
import { forEachTask } from '../each-task.ts'
import { defineVerb } from '../verb.ts'

export const retry = defineVerb({
  usage: 'retry ID… [--allow-divergence] [--repeat CALL]',
  help: 'Gives failed tasks a new attempt. Completed calls are not repeated. --allow-divergence is for a task that failed with CALL_DIVERGED because its code changed: the new calls are made in addition to the recorded ones. --repeat makes a completed call again, for example because its result was lost; it may be given several times.',
  options: { ...switches('allow-divergence'), repeat: { type: 'string', multiple: true } },
  positionals: { min: 1 },
  run: (io, args) =>
    forEachTask(io, args, (engine, task) =>
      engine.retry(task.id, {
        ...(args.values['allow-divergence'] ? { divergence: 'allow' } : {}),
        ...(args.values.repeat === undefined ? {} : { repeat: args.values.repeat }),
      }),
    ),
})
