// `errand show`: all that the ledger knows of one task, for people or as one JSON object.
import type { Engine } from '../../../api.ts'
import type { Task } from '../../../entities/task.ts'
import { usageOf } from '../conversation-text.ts'
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { describePicture, type Picture, type TeamPicture } from '../task-picture.ts'
import { findTask } from '../task-ref.ts'
import { contextOf } from '../team-text.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, its runs and calls, its conversation and the tokens it took, how far its team is, and why it does not run.',
  options: {},
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref] }) {
    return await withLedger(io, values, async (engine) => {
      const picture = await takePicture(engine, await findTask(engine, ref as string))
      printValue(io, values, pictureJson(picture), describePicture(picture, io.stdout.columns))
    })
  },
})

async function takePicture(engine: Engine, task: Task): Promise<Picture> {
  const [why, runs, calls, messages, team] = await Promise.all([
    engine.why(task.id),
    engine.runs(task.id),
    engine.calls(task.id),
    engine.messages(task.id),
    teamPicture(engine, task),
  ])
  return { task, why, runs, calls, messages, ...(team === undefined ? {} : { team }) }
}

async function teamPicture(engine: Engine, { id }: Task): Promise<TeamPicture | undefined> {
  const { task, progress } = await contextOf(engine, id)
  const { branch, type } = task
  return branch === null ? undefined : { branch, type, progress }
}

function pictureJson({ task, ...rest }: Picture): Record<string, unknown> {
  const usage = usageOf(rest.messages)
  return { ...task, ...rest, ...(usage === undefined ? {} : { usage }) }
}
