// The explicit mention of a task at the beginning of a message.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractMention } from '../../../src/agents/routing/mention.ts'
import { createRandomIds } from '../../../src/core/ids.ts'

describe('extractMention', () => {
  it('S0-036 S0-041 extractMention returns the mentioned task and the text without the mention', () => {
    expect(extractMention('@task-abc123 Please also check Q2 data')).toEqual({
      taskId: 'task-abc123',
      text: 'Please also check Q2 data',
    })
    expect(extractMention('@task-a1 \n\t two\nlines ')).toEqual({ taskId: 'task-a1', text: 'two\nlines ' })
  })

  it.each([
    'Ask @task-abc123 about Q2',
    ' @task-abc123 text',
    '@task-ABC text',
    '@task-abc- text',
    '@2f1c9a52-7b1e-4d0a text',
    '@task-abc, text',
    '@task- text',
    '@todo-abc text',
    'task-abc text',
    '',
  ])(
    'S0-037 extractMention ignores a mention that is not at the very beginning or not in lower case: %j',
    (message) => {
      expect(extractMention(message)).toBeNull()
    },
  )

  it('S0-038 extractMention accepts every id that the engine creates', () => {
    const ids = createRandomIds()
    for (let count = 0; count < 1_000; count++) {
      const taskId = ids.next('task')
      expect(extractMention(`@${taskId} go on`)).toEqual({ taskId, text: 'go on' })
    }
  })

  it('S0-039 extractMention accepts a mention without text', () => {
    expect(extractMention('@task-abc123')).toEqual({ taskId: 'task-abc123', text: '' })
    expect(extractMention('@task-abc123 \n')).toEqual({ taskId: 'task-abc123', text: '' })
  })

  it('extractMention accepts a mention as long as the maximum id, and no longer one', () => {
    const longest = `task-${'a'.repeat(123)}`
    expect(extractMention(`@${longest} text`)).toEqual({ taskId: longest, text: 'text' })
    expect(extractMention(`@${longest}a text`)).toBeNull()
    expect(extractMention(`@task-${'a'.repeat(1_000_000)}`)).toBeNull()
  })

  it('extractMention returns any text after a mention', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^task-[a-z0-9]{1,95}$/), fc.string(), (taskId, rest) => {
        expect(extractMention(`@${taskId} ${rest}`)).toEqual({ taskId, text: rest.trimStart() })
      }),
    )
  })
})
