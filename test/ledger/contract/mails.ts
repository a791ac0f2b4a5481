// Mail: a message is read once, a request is answered once.
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { mailRow } from '../factories.ts'
import { idsIn, type Theme, write } from './contract-world.ts'

const request = (id: string, more: Parameters<typeof mailRow>[1] = {}) =>
  mailRow(id, { kind: 'request', topic: 'shutdown', requestId: `request-${id}`, verdict: 'pending', ...more })

const unread = (ledger: Ledger, recipient = 'bob', limit = 9, board = 'main') =>
  idsIn(ledger, (tx) => tx.mail.unread(board, recipient, limit))

export const mails: Theme = ({ describe, proves, expect }) => {
  describe('mail', () => {
    proves('mail is unread by board and recipient, oldest first, until it is read', async (ledger) => {
      const seqs = await write(ledger, function* (tx) {
        const given: number[] = []
        for (const mail of [
          mailRow('one'),
          mailRow('two'),
          mailRow('for-carol', { recipient: 'carol' }),
          mailRow('elsewhere', { board: 'part' }),
          mailRow('three', { createdAt: 1 }),
        ])
          given.push(yield* tx.mail.insert(mail))
        return given
      })
      expect(seqs).toEqual([1, 2, 3, 4, 5])
      expect(await unread(ledger)).toEqual(['one', 'two', 'three'])
      expect(await unread(ledger, 'bob', 2)).toEqual(['one', 'two'])
      expect(await unread(ledger, 'bob', 9, 'part')).toEqual(['elsewhere'])
      expect(await unread(ledger, 'missing')).toEqual([])
      await write(ledger, (tx) => tx.mail.markRead({ id: 'one', recipient: 'bob' }, 7))
      await write(ledger, (tx) => tx.mail.markRead({ id: 'one', recipient: 'bob' }, 8))
      expect(await unread(ledger)).toEqual(['two', 'three'])
      // The first reader takes it.
      expect(await ledger.read((tx) => tx.mail.get('one'))).toEqual({ ...mailRow('one', { readAt: 7 }), seq: 1 })
      expect(await ledger.read((tx) => tx.mail.get('none'))).toBe(undefined)
      for (const recipient of ['carol', 'bob'])
        await write(ledger, (tx) => tx.mail.markUnread({ id: 'one', recipient }))
      expect(await unread(ledger)).toEqual(['one', 'two', 'three'])
    })

    proves('mail stores a request, its verdict and its answer', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.mail.insert(request('a'))
        yield* tx.mail.insert(request('b', { sender: 'bob', recipient: 'alice' }))
        yield* tx.mail.insert(request('c', { sender: 'carol', recipient: 'dave' }))
        yield* tx.mail.decide('request-a', 'approved')
        yield* tx.mail.insert(
          mailRow('answer', {
            kind: 'response',
            sender: 'bob',
            recipient: 'alice',
            requestId: 'request-a',
            verdict: 'approved',
          }),
        )
      })
      expect(await ledger.read((tx) => tx.mail.request('request-a'))).toMatchObject({
        id: 'a',
        kind: 'request',
        verdict: 'approved',
      })
      expect(await ledger.read((tx) => tx.mail.request('request-none'))).toBe(undefined)
      const requests = (member: string, limit = 9) => idsIn(ledger, (tx) => tx.mail.requests('main', member, limit))
      expect(await requests('alice')).toEqual(['b', 'a'])
      expect(await requests('alice', 1)).toEqual(['b'])
      expect(await requests('dave')).toEqual(['c'])
      expect(await requests('missing')).toEqual([])
    })

    proves('mail refuses a second answer to a request, and inconsistent fields', async (ledger) => {
      const answer = (id: string) => mailRow(id, { kind: 'response', requestId: 'request-a', verdict: 'rejected' })
      await write(ledger, function* (tx) {
        yield* tx.mail.insert(request('a'))
        yield* tx.mail.insert(answer('first'))
      })
      for (const mail of [
        answer('second'),
        request('again', { requestId: 'request-a' }),
        mailRow('first'),
        mailRow('odd', { kind: 'shout' as 'message' }),
        mailRow('with-verdict', { verdict: 'approved' }),
        mailRow('with-request', { requestId: 'request-z' }),
        request('no-verdict', { verdict: null }),
        request('odd-verdict', { verdict: 'maybe' as 'pending' }),
      ]) {
        const refused = write(ledger, (tx) => tx.mail.insert(mail))
        await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
      expect(await unread(ledger)).toEqual(['a', 'first'])
    })

    proves('mail is stored byte for byte', async (ledger) => {
      const text = `'; drop table mail; -- "\\ $1 ?1 :a 👩‍👩‍👧 \u202e \u2028 ${'é'.repeat(100_000)}`
      await write(ledger, (tx) =>
        tx.mail.insert(mailRow('odd', { body: text, topic: text.slice(0, 90), sender: text.slice(0, 90) })),
      )
      expect(await ledger.read((tx) => tx.mail.get('odd'))).toMatchObject({
        body: text,
        topic: text.slice(0, 90),
        sender: text.slice(0, 90),
      })
    })
  })
}
