// `errand retry`: a failed task gets a new attempt.
import { forEachRef } from '../each-ref.ts'
import { defineVerb } from '../verb.ts'

export const retryVerb = defineVerb({
  usage: 'retry ID…',
  help: 'Gives failed tasks a new attempt. What completed inside them is not done again.',
  options: {},
  positionals: { min: 1 },
  run: (io, args) => forEachRef(io, args, (engine, task) => engine.retry(task.id)),
})
