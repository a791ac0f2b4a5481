// `errand retry`: a failed task gets a new attempt.
import { switches } from '../arguments.ts'
import { forEachTask } from '../each-ref.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'retry ID… [--allow-divergence]',
  help: 'Gives failed tasks a new attempt. What completed inside them is not done again. --allow-divergence is for a task that failed with CALL_DIVERGED, when what its code now does is meant to be done besides.',
  options: switches('allow-divergence'),
  positionals: { min: 1 },
  run: (io, args) =>
    forEachTask(io, args, (engine, task) =>
      engine.retry(task.id, args.values['allow-divergence'] ? { divergence: 'allow' } : {}),
    ),
})
