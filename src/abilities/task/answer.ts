// task:answer: answers a question that a task has put and waits for.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { Task } from '../../entities/task.ts'
import { fromJson, toJson } from '../../json.ts'
import { answer } from '../../steps/answer.ts'
import { expecting } from '../../steps/expect-version.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

/** Questions that are put to people only are FORBIDDEN to models. */
export function taskAnswer(host: AbilityHost) {
  return defineAbility({
    id: 'task:answer',
    access: 'control',
    description: 'Answers the open question of a task, which then goes on.',
    input: z.strictObject({
      ...verbShape,
      value: z
        .unknown()
        .optional()
        .describe('The answer, as the question wants it. Default: what the question proposes.'),
      question: z.string().min(1).max(100).optional().describe('Id of the question, if there are several.'),
    }),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    async handle({ value, question, ...input }, { caller }) {
      const { taskId } = input
      const engine = await host.engineFor(caller)
      if (caller.model) {
        const given = value === undefined ? {} : { value: { given: fromJson(toJson(value, 'the answer')) } }
        const step = answer({ ...(await host.moment()), taskId, questionId: question, ...given, byModel: true })
        await host.step(expecting(step, taskId, input.expectedVersion))
        return standingOf((await engine.get(taskId)) as Task)
      }
      return standingOf(await engine.answer(refOf(input), value, question === undefined ? {} : { question }))
    },
  })
}
