// `errand show`: all that the ledger knows of one task, for people or as one JSON object.
import { usageOf } from '../conversation-text.ts'
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { describePicture, type Picture, takePicture } from '../task-picture.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, its runs and calls, its conversation and the tokens it took, how far its team is, and why it does not run.',
  options: {},
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const picture = await takePicture(engine, await findTask(engine, ref))
      printValue(io, values, pictureJson(picture), describePicture(picture, io.stdout.columns))
    }),
})

function pictureJson({ task, ...rest }: Picture): Record<string, unknown> {
  return { ...task, ...rest, usage: usageOf(rest.messages) }
}
