// The form of a new task: the request that it becomes, and the errors that keep it from becoming one.

import { expect, it } from 'vitest'
import { z } from 'zod'
import { bodyOf, type Draft, emptyDraft } from '../../page/src/model/new-task.ts'
import { enteredFrom, fieldOf } from '../../page/src/model/question-form.ts'

const greeting = fieldOf(
  z.toJSONSchema(z.object({ name: z.string(), times: z.int().min(1).default(2), loud: z.boolean().optional() }), {
    io: 'input',
  }),
)

const draftOf = (given: Partial<Draft>): Draft => ({ ...emptyDraft, ...given })

it('the input of a new task is read from the form of its executor, with the defaults of the schema', () => {
  const initial = enteredFrom(greeting, undefined)
  expect(initial).toEqual({ name: '', times: '2', loud: '' })
  const entered = { ...(initial as object), name: 'Ada' }
  expect(bodyOf(draftOf({ executor: 'greet', entered }), greeting)).toEqual({
    body: { executor: 'greet', input: { name: 'Ada', times: 2 }, priority: 0 },
  })
  expect(bodyOf(draftOf({ executor: 'greet' }), greeting)).toHaveProperty('body.input', { name: '', times: 2 })
})

it('an invalid field of the form of an executor is an error, and no request', () => {
  const entered = { name: 'Ada', times: '0', loud: '' }
  expect(bodyOf(draftOf({ executor: 'greet', entered }), greeting)).toEqual({ wrong: { entered: 'At least 1.' } })
})

it('the input of an executor without a schema is JSON, and may be left out', () => {
  expect(bodyOf(draftOf({ executor: 'count', input: '{"to": 3}', name: ' Count ' }), null)).toEqual({
    body: { name: 'Count', executor: 'count', input: { to: 3 }, priority: 0 },
  })
  expect(bodyOf(draftOf({ executor: 'count' }), null)).toEqual({ body: { executor: 'count', priority: 0 } })
  expect(bodyOf(draftOf({ executor: 'count', input: '{"to":' }), null)).toHaveProperty('wrong.input')
})

it('a task needs an executor or a goal, and one that waits to be claimed needs a name', () => {
  expect(bodyOf(draftOf({}), null)).toEqual({ wrong: { goal: 'Enter a goal or choose an executor.' } })
  expect(bodyOf(draftOf({ claimed: true }), null)).toEqual({ wrong: { name: 'Enter a name.' } })
  expect(bodyOf(draftOf({ claimed: true, name: 'Read it', goal: 'ignored' }), null)).toEqual({
    body: { name: 'Read it', priority: 0 },
  })
})
