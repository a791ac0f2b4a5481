// task:answer: answers an open question of a task.
import { z } from 'zod'
import { faithfulImage } from '../../core/json.ts'
import { answer } from '../steps/answer.ts'
import { GivenAnswer } from '../steps/answer-schema.ts'
import { taskChange } from './define-change.ts'

/** Questions to people are FORBIDDEN to models, and to anything that a model calls. */
export const taskAnswer = taskChange({
  id: 'task:answer',
  description:
    'Answers the open question of a task, which then continues. Models may not answer questions to people (FORBIDDEN).',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/answer',
      tag: 'Control',
      operationId: 'answerTask',
      summary: 'Answer a question of a task',
    },
  ],
  input: () => ({
    value: z
      .unknown()
      .optional()
      .describe('The answer, in the form that the question requires. Default: the default of the question.'),
    question: z.string().min(1).max(100).optional().describe('Id of the question; required if several are open.'),
  }),
  args: ['value'],
  step: ({ taskId, value, question }, ctx, { caller }) =>
    answer({
      ...ctx,
      taskId,
      questionId: question,
      ...(value === undefined ? {} : { value: new GivenAnswer(faithfulImage(value, 'the answer', 'answer')) }),
      caller,
    }),
})
