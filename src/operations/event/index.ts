// The operations of the event feed, one file each. Their registration and their types derive from this list.
import { eventFeed } from './feed.ts'
import { eventList } from './list.ts'
import { eventPages } from './pages.ts'

export const eventOperations = [eventFeed, eventList, eventPages] as const
