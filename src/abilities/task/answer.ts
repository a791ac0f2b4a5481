// task:answer: answers a question that a task has put and waits for.
import { z } from 'zod'
import { fromJson, toJson } from '../../core/json.ts'
import { answer } from '../../steps/answer.ts'
import { taskChange } from './task-change.ts'

/** Questions that are put to people are FORBIDDEN to models, and to what models use. */
export const taskAnswer = taskChange({
  id: 'task:answer',
  description:
    'Answers the open question of a task, which then goes on. A question that is put to people is answered by people: for models it is FORBIDDEN.',
  input: {
    value: z
      .unknown()
      .optional()
      .describe('The answer, as the question wants it. Default: what the question proposes.'),
    question: z.string().min(1).max(100).optional().describe('Id of the question, if there are several.'),
  },
  step: ({ taskId, value, question }, ctx, { caller }) =>
    answer({
      ...ctx,
      taskId,
      questionId: question,
      ...(value === undefined ? {} : { value: { given: fromJson(toJson(value, 'the answer')) } }),
      caller,
    }),
})
