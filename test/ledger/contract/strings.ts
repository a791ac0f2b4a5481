// Strings: every database stores any text of people, models and files unchanged.
import type { TaskFilter } from '../../../src/ledger/ledger.ts'
import { callRow, eventRow, messageRow, runRow, taskRow } from '../factories.ts'
import { idsIn, type Theme, write } from './contract-world.ts'

/** Names are indexed, and PostgreSQL indexes at most about 2,700 bytes. */
const name = (text: string): string => text.slice(0, 1_000)

/** Well-formed and without NUL, as json.ts requires. Each has caused errors in some database. */
const hostile: Record<string, string> = {
  'a statement': `'; drop table task; --`,
  'a statement for the other database': `"; delete from "event" where '' = '`,
  'quotes of every kind': `'"\`\\''""\${x}$1 ?1 :a @b %_`,
  'the end of a comment': '*/ -- /*',
  'a JSON path': '$.a["b"].c[0]',
  'a prototype key': '__proto__',
  'emoji and marks': '👩‍👩‍👧‍👦 ẗ̶̼ \u202e abc \u{10ffff}',
  'control characters': '\u0001\u0008\u001b[31m\r\n\t\u007f\u0085\u2028\ufeff',
  'an empty text': '',
  'a number': '0x10',
  'a word of SQL': 'null',
  'a megabyte': 'ab\u00e9'.repeat(350_000),
}

export const strings: Theme = ({ describe, proves, expect }) => {
  describe('hostile text', () => {
    for (const [title, text] of Object.entries(hostile)) {
      proves(`X-037 X-043 every text column stores ${title} byte for byte`, async (ledger) => {
        const id = `task ${text.slice(0, 100)}`
        const task = taskRow({
          id,
          key: `key ${name(text)}`,
          name: text,
          goal: text,
          description: text,
          statusReason: text,
          executor: name(text),
          owner: text,
          snapshot: text,
          input: text,
          result: [text],
          error: { code: text, message: text },
          metadata: { [`k ${text}`]: text },
        })
        const call = callRow({ id: `call ${id}`, taskId: id, name: text, ident: text, params: { [`p ${text}`]: text } })
        const message = messageRow({ id: `message ${id}`, taskId: id, content: text, ident: text })
        const event = eventRow({ taskId: id, instanceId: name(text), data: { text } })
        await write(ledger, function* (tx) {
          yield* tx.task.insert(task)
          yield* tx.run.insert(runRow({ taskId: id, instanceId: name(text) }))
          yield* tx.call.insert(call)
          yield* tx.message.append(message)
          yield* tx.event.append(event)
        })
        expect(await ledger.read((tx) => tx.task.get(id))).toEqual({ ...task, seq: 1 })
        expect((await ledger.read((tx) => tx.task.getByKey(task.key as string)))?.id).toBe(id)
        expect((await ledger.read((tx) => tx.task.findByPrefix(id, 2))).length).toBe(1)
        expect((await ledger.read((tx) => tx.run.openOf(name(text)))).length).toBe(1)
        expect(await ledger.read((tx) => tx.call.list(id))).toEqual([{ ...call, seq: 1 }])
        expect(await ledger.read((tx) => tx.message.list(id))).toEqual([{ ...message, n: 1 }])
        expect((await ledger.read((tx) => tx.event.after(0, 9, id)))[0]?.data).toEqual({ text })
      })

      proves(`X-037 X-043 a filter accepts ${title}`, async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(
            taskRow({ id: 'a', executor: name(text), key: `${name(text)}/a`, metadata: { [text]: text } }),
          )
          yield* tx.task.insert(taskRow({ id: 'b', executor: `${name(text)}'`, metadata: { [`${text}'`]: text } }))
        })
        const found = (filter: TaskFilter) => idsIn(ledger, (tx) => tx.task.list(filter, 9))
        expect(await found({ metadata: { [text]: text } })).toEqual(['a'])
        expect(await found({ executor: name(text) })).toEqual(['a'])
        expect(await found({ keyPrefix: `${name(text)}/` })).toEqual(['a'])
        expect(await found({ parentId: text })).toEqual([])
        expect(await ledger.read((tx) => tx.task.anyAwake([name(text)]))).toBe(false)
        expect(await ledger.read((tx) => tx.task.count({}))).toBe(2)
      })
    }
  })
}
